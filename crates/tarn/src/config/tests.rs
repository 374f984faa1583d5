use super::*;

fn parse(text: &str) -> Result<Config> {
    let variable = |name: &str| (name == "SECRET").then(|| "hunter2".to_string());
    Config::parse(text, Path::new("/etc/tarn"), &variable)
}

fn refusal(text: &str) -> String {
    let error = parse(text).unwrap_err();
    assert_eq!(error.kind(), tarn_format::ErrorKind::InvalidInput);
    error.to_string()
}

#[test]
fn everything_is_understood() {
    let config = parse(
        r#"
        default-catalog = "prod"
        default-namespace = "sales.eu"
        memory-limit = "2GiB"
        spill-directory = "spill"
        parallelism = 1_0
        home = "/data/lake"

        [catalog.prod]
        type = "rest"
        uri = "https://catalog.example/ws"
        token = "a-${SECRET}-b"
        warehouse = "s3://bucket/wh"
        s3.path-style-access = true

        [catalog."local one"]
        type = "hadoop"
        warehouse = "wh"

        [settings]
        spark.sql.session.timeZone = "Europe/Oslo"
        "spark.sql.caseSensitive" = false

        [shell]
        format = "csv"
        timing = true
        "#,
    );
    let config = config.unwrap();
    let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect()
    };
    let prod = map(&[
        ("type", "rest"),
        ("uri", "https://catalog.example/ws"),
        ("token", "a-hunter2-b"),
        ("warehouse", "s3://bucket/wh"),
        ("s3.path-style-access", "true"),
    ]);
    let local = map(&[("type", "hadoop"), ("warehouse", "/etc/tarn/wh")]);
    assert_eq!(config.catalogs["prod"], prod);
    assert_eq!(config.catalogs["local one"], local);
    assert_eq!(config.default_catalog.as_deref(), Some("prod"));
    assert_eq!(config.default_namespace, Some(Namespace::new(["sales", "eu"])));
    assert_eq!(config.memory_limit, Some(MemoryLimit::Bytes(2 << 30)));
    assert_eq!(config.spill_directory, Some(PathBuf::from("/etc/tarn/spill")));
    assert_eq!(config.parallelism, Some(10));
    assert_eq!(config.home, Some(PathBuf::from("/data/lake")));
    let settings = [
        ("spark.sql.session.timeZone", "Europe/Oslo"),
        ("spark.sql.caseSensitive", "false"),
    ];
    assert_eq!(config.settings, map(&settings));
    assert_eq!(config.shell, map(&[("format", "csv"), ("timing", "true")]));
    assert_eq!(parse("").unwrap(), Config::default());
}

#[test]
fn unknown_keys_suggest_the_near_one_with_their_line() {
    assert_eq!(
        refusal("\nparalelism = 4"),
        "line 2: 'paralelism' is not known here; did you mean parallelism?"
    );
    assert_eq!(
        refusal("[catalogs.x]\ntype = 'memory'"),
        "line 2: 'catalogs' is not known here; did you mean [catalog]?"
    );
    assert!(refusal("whatever = 1").contains("known are default-catalog, "));
    assert!(refusal("[catalog.'a.b']\ntype = 'hadoop'").contains("'a.b' must not hold a dot"));
    assert!(refusal("[catalog]\nx = 'hadoop'").contains("[catalog.NAME]"));
}

#[test]
fn wrong_values_name_their_line() {
    assert!(refusal("a = \n").starts_with("line 1: "));
    assert!(refusal("\n\nparallelism = 0").starts_with("line 3: parallelism is a whole number"));
    assert!(refusal("memory-limit = 'much'").starts_with("line 1: a memory limit is"));
    assert!(refusal("[settings]\nlist = [1]").starts_with("line 2: settings.list is of type array"));
    assert!(refusal("home = '${NOPE}'").starts_with("line 1: variable NOPE is not set"));
}

#[test]
fn secrets_are_shown_neither_in_errors_nor_in_debug() {
    let shown = format!(
        "{:?}",
        parse("[catalog.x]\npassword = '${SECRET}'\ntype = 'rest'").unwrap()
    );
    assert!(!shown.contains("hunter2") && shown.contains("rest"), "{shown}");
    for broken in [
        "[catalog.x]\ntoken = 'hunter2",
        "[catalog.x]\ntoken = hunter2\n",
        "token = 'hunter2'",
    ] {
        assert!(!refusal(broken).contains("hunter2"), "{}", refusal(broken));
    }
}
