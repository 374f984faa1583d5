//! Values of every type. Which casts are taken follows Spark's `Cast.canUpCast`.

use super::*;
use crate::ast::Statement;
use crate::commands::plan_context;
use crate::session::tests::session;

const ALL: &[Parameter] = &[
    Parameter::optional("text", ParameterType::String, ""),
    Parameter::optional("truth", ParameterType::Boolean, ""),
    Parameter::optional("number", ParameterType::Int, ""),
    Parameter::optional("long", ParameterType::Long, ""),
    Parameter::optional("time", ParameterType::Timestamp, ""),
    Parameter::optional("longs", ParameterType::Longs, ""),
    Parameter::optional("texts", ParameterType::Strings, ""),
    Parameter::optional("options", ParameterType::Map, ""),
];

async fn bind(arguments: &str) -> Result<Arguments> {
    let session = session().await;
    session
        .sql("SET spark.sql.session.timeZone = Europe/Berlin")
        .await
        .unwrap();
    let sql = format!("CALL system.x({arguments})");
    let Statement::Call(call) = session.parse(&sql).unwrap().remove(0) else {
        panic!("no call");
    };
    Arguments::bind(&plan_context(&session), ALL, &call.arguments)
}

#[tokio::test]
async fn values_become_the_parameters_types() {
    let bound = bind(
        "text => 5, truth => true, number => 2, long => -7, time => TIMESTAMP '2024-01-01 00:00:00.0015', \
         longs => array(1, 2), texts => array('a'), options => map('k', 'v', 'n', '2')",
    )
    .await
    .unwrap();
    assert_eq!(bound.optional_string(&ALL[0]), Some("5"));
    assert_eq!(bound.optional_boolean(&ALL[1]), Some(true));
    assert_eq!(bound.optional_long(&ALL[2]), Some(2));
    assert_eq!(bound.optional_long(&ALL[3]), Some(-7));
    // One hour before midnight in UTC.
    assert_eq!(bound.optional_timestamp_ms(&ALL[4]), Some(1_704_063_600_001));
    assert_eq!(bound.optional_longs(&ALL[5]), Some([1, 2].as_slice()));
    assert_eq!(bound.optional_strings(&ALL[6]), Some(["a".to_string()].as_slice()));
    let options = bound.optional_map(&ALL[7]).unwrap();
    assert_eq!((options["k"].as_str(), options["n"].as_str()), ("v", "2"));
    let date = bind("time => DATE '2024-01-01'").await.unwrap();
    assert_eq!(date.optional_timestamp_ms(&ALL[4]), Some(1_704_063_600_000));
    assert_eq!(
        bind("text => NULL, longs => array()")
            .await
            .unwrap()
            .optional_longs(&ALL[5]),
        Some([].as_slice())
    );
}

#[tokio::test]
async fn values_that_would_lose_something_are_refused() {
    for (argument, told) in [
        ("number => 5000000000", "number must be of type int, not bigint"),
        ("number => '5'", "of type int, not string"),
        ("number => 5.0", "of type int, not decimal(2,1)"),
        ("long => 1.5D", "of type bigint, not double"),
        ("truth => 1", "of type boolean, not int"),
        ("time => true", "of type timestamp, not boolean"),
        ("longs => 1", "of type array<bigint>, not int"),
        ("longs => array('one')", "of type array<bigint>, not array<string>"),
        ("options => 'a'", "of type map<string,string>, not string"),
        (
            "options => array('a', 'b')",
            "of type map<string,string>, not array<string>",
        ),
        ("text => array('a')", "of type string, not array<string>"),
    ] {
        let error = bind(argument).await.expect_err(argument);
        assert!(error.to_string().contains(told), "{argument}: {error}");
    }
}
