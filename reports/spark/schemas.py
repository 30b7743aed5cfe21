"""Spark schemas, derived from the dataclasses that declare the tables: nothing is inferred from data."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, reduce
from operator import and_
from typing import TYPE_CHECKING, Any, Final, Union, get_args, get_origin, get_type_hints

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_PLAIN: Final[dict[type, DataType]] = {
    str: StringType(),
    int: LongType(),
    float: DoubleType(),
    bool: BooleanType(),
}
_SPECIAL: Final = re.compile("[^0-9A-Za-z.-]")
_ARROW: Final[dict[type[DataType], pa.DataType]] = {
    StringType: pa.string(),
    LongType: pa.int64(),
    DoubleType: pa.float64(),
    BooleanType: pa.bool_(),
    TimestampType: pa.timestamp("us", "UTC"),
}


@cache
def of(table: type) -> StructType:
    """The schema of a table whose columns are the fields of the dataclass `table`; dataclasses among them become
    structs. Raises KeyError for a type that no column can have."""
    hints = get_type_hints(table)
    return StructType([StructField(f.name, _type(hints[f.name])) for f in fields(table)])


def _type(hint: Any) -> DataType:
    if get_origin(hint) in (types.UnionType, Union):
        (hint,) = (choice for choice in get_args(hint) if choice is not type(None))
    if get_origin(hint) is tuple:
        # What comes back from Parquet may hold nulls, as far as Spark knows; it casts that to nothing stricter.
        return ArrayType(_type(get_args(hint)[0]))
    if isinstance(hint, type) and is_dataclass(hint):
        return of(hint)
    return _PLAIN[hint]


def arrow(kind: DataType) -> pa.DataType:
    """The same type as Arrow calls it."""
    if isinstance(kind, StructType):
        return pa.struct([pa.field(field.name, arrow(field.dataType)) for field in kind])
    if isinstance(kind, ArrayType):
        return pa.list_(arrow(kind.elementType))
    return _ARROW[type(kind)]


def by_columns(function: Callable[..., Any], made: DataType) -> Any:
    """`function`, from Arrow columns to one such column (or, of a group, to one value), as Spark calls it; it has no
    need of pandas."""
    return F.arrow_udf(function, made)  # type: ignore[attr-defined,unused-ignore] # PySpark's stubs lack it


def sent(spark: SparkSession, rows: Iterable[tuple[Any, ...]], schema: StructType) -> DataFrame:
    """A few rows of this process as a DataFrame. By Arrow they become part of the plan: what follows from an empty one
    is never run."""
    told = [dict(zip(schema.names, row, strict=True)) for row in rows]
    return spark.createDataFrame(pa.Table.from_pylist(told, pa.schema(list(arrow(schema)))), schema)


def among(column: str, values: Iterable[str]) -> Column:
    """Whether a text column has one of these values. They go to Spark as one text, since each literal of its own takes
    a call to the JVM; whatever they hold, nothing of it is SQL."""
    told = ", ".join(map(_literal, values))
    return F.expr(f"{column} in ({told})") if told else F.lit(False)


def together(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Column:
    """Whether text columns have the values of one of these rows, sent as by `among`. It is said of each column too, so
    that what is read from Parquet is what may be meant."""
    told = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
    if not told:
        return F.lit(False)
    each = [among(column, sorted({*values})) for column, values in zip(columns, zip(*rows, strict=True), strict=True)]
    return reduce(and_, each, F.expr(f"({', '.join(columns)}) in ({told})"))


def _literal(value: str) -> str:
    return f"'{_SPECIAL.sub(_escaped, value)}'"


def _escaped(found: re.Match[str]) -> str:
    return f"\\U{ord(found[0]):08x}"


def text(*names: str) -> StructType:
    """A schema of text columns."""
    return StructType([StructField(name, StringType()) for name in names])
