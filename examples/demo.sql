-- The five-minute demo of the README: tarn -f examples/demo.sql
-- Run it in an empty directory: its last statement reads files below ./tarn-lake.

CREATE TABLE trips (id bigint, city string, fare decimal(7,2), started timestamp)
PARTITIONED BY (days(started));

INSERT INTO trips VALUES
  (1, 'Oslo',   17.50, TIMESTAMP '2026-03-01 08:15:00'),
  (2, 'Bergen',  9.90, TIMESTAMP '2026-03-01 09:40:00'),
  (3, 'Oslo',   31.00, TIMESTAMP '2026-03-02 22:05:00');

SELECT city, count(*) AS trips, sum(fare) AS income FROM trips GROUP BY city ORDER BY income DESC;

\let before SELECT snapshot_id FROM trips.snapshots ORDER BY committed_at DESC LIMIT 1

INSERT INTO trips VALUES (4, 'Oslo', 12.00, TIMESTAMP '2026-03-03 07:30:00');

SELECT count(*) AS now FROM trips;
SELECT count(*) AS then FROM trips VERSION AS OF ${before};

SELECT operation, summary['added-records'] AS added, summary['total-records'] AS total FROM trips.snapshots ORDER BY committed_at;

SELECT partition.started_day AS day, record_count, file_count FROM trips.partitions ORDER BY day;

SELECT count(*) AS trips FROM 'tarn-lake/default/trips/data/**/*.parquet';
