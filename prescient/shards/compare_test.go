package shards

import (
	"strings"
	"testing"

	"prescient/prescient/internal/store"
)

func TestWhatLiesElsewhereIsSaidOfEachTable(t *testing.T) {
	all := func() map[string]route {
		has := make(map[string]route)
		for _, table := range tables() {
			has["p_"+table] = wanted(table)
		}
		return has
	}
	for _, test := range []struct {
		name   string
		change func(has map[string]route)
		want   string
	}{
		{"all is well", func(map[string]route) {}, ""},
		{"another table", func(has map[string]route) { has["orders"] = route{"id", "hash"} }, ""},
		{"missing", func(has map[string]route) { delete(has, "p_schedule"); delete(has, "p_slot_config") }, "there is no p_slot_config, p_schedule"},
		{"another vindex", func(has map[string]route) { has["p_future_job"] = route{"job_key", "hash"} },
			"p_future_job lies by job_key (hash), and is to lie by job_key (binary)"},
		{"another column", func(has map[string]route) { has["p_audit_log"] = route{"entry", "binary"} }, "p_audit_log lies by entry (binary), and is to lie by place (binary)"},
		{"divided", func(has map[string]route) { has["p_slot_run"] = route{"slot", "hash"} }, "p_slot_run lies by slot (hash), and is to lie on each shard for itself"},
		{"not divided", func(has map[string]route) { has["p_event_seen"] = route{} }, "p_event_seen lies on each shard for itself, and is to lie by id (binary_md5)"},
	} {
		has := all()
		test.change(has)
		if got := strings.Join(differences("p_", has), "; "); got != test.want {
			t.Errorf("%s: %q; want %q", test.name, got, test.want)
		}
	}
}

func TestTheFirstShardIsToldByItsTarget(t *testing.T) {
	for target, want := range map[string]struct {
		keyspace, shard string
		first           bool
	}{
		"shop": {"shop", "", true}, "shop@replica": {"shop", "", true}, "shop:-80": {"shop", "-80", true}, "shop/-80@primary": {"shop", "-80", true},
		"shop:80-": {"shop", "80-", false}, "shop[80-c0]": {"shop", "80-c0", false}, "shop/40-80": {"shop", "40-80", false}, "shop:-": {"shop", "-", true}, "shop:0": {"shop", "0", true},
	} {
		if keyspace, shard := store.Target(target); keyspace != want.keyspace || shard != want.shard || first(shard) != want.first {
			t.Errorf("%s: %q, %q, %v", target, keyspace, shard, first(shard))
		}
	}
}
