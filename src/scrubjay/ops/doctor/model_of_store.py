"""The embedder of a store where no setting names one, for those that do not open the store."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

from scrubjay.config import EmbedderAccess, Settings, embedder_access
from scrubjay.errors import ScrubjayError
from scrubjay.models.registry import DEFAULT, default_embedder
from scrubjay.ops.doctor.database import is_current, open_file, open_schema
from scrubjay.storage.model_switch import SqlModelSwitch
from scrubjay.text.urls import is_server_url, tenant_file
from scrubjay.write.model_choice import access_of, model_in_use


def with_model_of_store(settings: Settings) -> Settings:
    """Return the settings with the embedder of the store in place of `auto`: the one that it has chosen,
    the one of its index, or the default where there is no store yet or it cannot be read."""
    if settings.embedder != DEFAULT:
        return settings
    try:
        access = _access_of_store(settings)
    except ScrubjayError:  # other checks report it
        access = None
    access = access or embedder_access(default_embedder())
    return settings._replace(embedder=access.spec, embedder_access=access)


def _access_of_store(settings: Settings) -> EmbedderAccess | None:
    if is_server_url(settings.db):
        if not is_current(settings.db, settings.tenant):
            return None
        opened = open_schema(settings.db, settings.tenant)
    else:
        file = tenant_file(settings.db, settings.tenant)
        if not os.path.isfile(file) or not os.path.getsize(file):
            return None
        opened = open_file(Path(file))
    with closing(opened) as db:
        switch = SqlModelSwitch(db)
        own = switch.chosen()[0]
        return access_of(own.spec) if own else embedder_access(model_in_use(switch))
