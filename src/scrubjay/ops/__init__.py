"""Operations: doctor, evaluation, and moving a store between SQLite and Postgres."""
