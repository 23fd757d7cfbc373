"""How our collections in Qdrant are made: cosine, int8 in memory, and an index of all that filters ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qdrant_client.http import models
from qdrant_client.http.exceptions import UnexpectedResponse

from scrubjay.errors import Unavailable

if TYPE_CHECKING:
    from qdrant_client.http import SyncApis

_KEYWORDS = (
    "id",
    "namespace",
    "type",
    "session",
    "owner",
    "agent",
    "collection",
    "topics",
    "domain_label",
)
_NUMBERS = ("created_us", "valid_from_us", "valid_until_us")


def make(apis: SyncApis[Any], name: str, dims: int) -> None:
    """Make a collection and the indexes that it lacks; it may be there, whole or in part."""
    wanted = models.CreateCollection(
        vectors=models.VectorParams(size=dims, distance=models.Distance.COSINE),
        quantization_config=models.ScalarQuantization(
            scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
        ),
    )
    try:
        apis.collections_api.create_collection(name, create_collection=wanted)
    except UnexpectedResponse as error:
        if error.status_code != 409:  # somebody else has made it
            raise
    there = apis.collections_api.get_collection(name).result
    indexed = there.payload_schema if there is not None else {}
    for field, schema in _indexes().items():
        if field not in indexed:
            # They are made one after the other, and before any point that comes later.
            apis.indexes_api.create_field_index(
                name,
                wait=False,
                create_field_index=models.CreateFieldIndex(field_name=field, field_schema=schema),
            )


def check(found: models.CollectionInfo, server: str, name: str, dims: int) -> None:
    """Refuse a collection that is not as ours are."""
    vectors = found.config.params.vectors
    if isinstance(vectors, models.VectorParams):
        there = f"{vectors.size} dimensions, compared by {vectors.distance.value}"
        right = vectors.size == dims and vectors.distance == models.Distance.COSINE
    else:
        there, right = "vectors under names of their own", False
    if not right:
        raise Unavailable(
            f"{server}: the collection {name} has {there}; wanted are {dims} dimensions, compared"
            " by Cosine: give another name in the URL, or delete it"
        )


def _indexes() -> dict[str, Any]:
    # Every search asks for one store, so what belongs to one lies together.
    store = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
    return {
        "store": store,
        "first": models.PayloadSchemaType.BOOL,
        **dict.fromkeys(_KEYWORDS, models.PayloadSchemaType.KEYWORD),
        **dict.fromkeys(_NUMBERS, models.PayloadSchemaType.INTEGER),
    }
