"""DataFusion without Iceberg: the same data files as folders of Parquet. What Tarn adds is the difference."""


class Engine:
    def __init__(self, threads, folder, catalog_uri=None):
        import datafusion

        self.library = datafusion
        config = datafusion.SessionConfig().with_target_partitions(threads)
        self.context = datafusion.SessionContext(config)

    def version(self):
        return self.library.__version__

    def open(self, table):
        self.context.register_parquet(table["name"], f"{table['location']}/data/")

    def run(self, sql):
        return self.context.sql(sql).to_arrow_table()

    def plan(self, sql):
        self.run(f"explain {sql}")
