package rig

import (
	"slices"
	"testing"
)

func TestATransactionsBytesInTheBinlogAreFromItsGTIDToItsCommit(t *testing.T) {
	const ours, others = "table_id: 90 (bench_x.slot_run)", "table_id: 91 (bench_x.orders)"
	events := []binlogEvent{
		{4, 126, "Format_desc", ""}, {126, 157, "Previous_gtids", ""},
		{157, 200, "Anonymous_Gtid", ""}, {200, 250, "Query", "BEGIN"}, {250, 300, "Table_map", others}, {300, 400, "Update_rows", ""}, {400, 431, "Xid", ""},
		{431, 500, "Anonymous_Gtid", ""}, {500, 550, "Query", "BEGIN"}, {550, 600, "Table_map", others}, {600, 650, "Table_map", ours},
		{650, 8000, "Write_rows", ""}, {8000, 8031, "Xid", ""},
		{8031, 8100, "Anonymous_Gtid", ""}, {8100, 8200, "Query", "TRUNCATE TABLE slot_run"},
		// The next file.
		{4, 256, "Format_desc", ""}, {256, 300, "Gtid_list", ""},
		{300, 342, "Gtid", "BEGIN GTID 0-1-2"}, {342, 400, "Table_map", ours}, {400, 1342, "Delete_rows_v1", ""}, {1342, 1373, "Xid", ""},
	}
	if got, want := sizes(events, "(bench_x.slot_run)"), []int{8031 - 431, 1373 - 300}; !slices.Equal(got, want) {
		t.Errorf("%v; want %v", got, want)
	}
}
