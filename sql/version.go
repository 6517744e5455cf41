package sql

// SchemaVersion is the number of the newest migration: what this program needs the tables to have. It works with every later one
// too, since migrations only add.
const SchemaVersion = 53
