"""The nightly report's data pipeline on Spark.

`session` starts Spark or joins a cluster, `warehouse` keeps tables in committed batches, `reading` turns files of
records into rows, `folding` turns the rows of a run into its verdicts, `versions` keeps what the runs of each version
amount to, `ingest` joins the four, `rejudge` judges stored conversations again, and `report` makes the tables of
`reports/tables.py`: what follows from a few verdicts is left to `standing`. Only DataFrames are used, with schemas
written down beforehand, so that everything runs on a laptop, on a cluster and through Spark Connect alike. What Python
must do on the executors is done in plain UDFs: they need neither pandas nor Arrow there.
"""
