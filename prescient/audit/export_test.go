package audit

import (
	"slices"
	"strings"
	"testing"

	"prescient/prescient/internal/rig"
	text "prescient/sql"
)

// StreamOf is the stream of an object, as a literal.
func StreamOf(kind Kind, id string) string { return string(streamOf(kind, id).literal(nil)) }

// All are all statements that there are.
func (l Log) All() text.Statements { return l.tables.Stmt }

// Statements are those of the audit, as they are sent.
func (l Log) Statements(t *testing.T) (list []rig.Explained) {
	t.Helper()
	one, two := StreamOf(Schedule, "s7"), StreamOf(Job, "s8")
	add := func(name string, reached map[string]string, words ...string) {
		statement, _, _ := strings.Cut(name, " ")
		list = append(list, rig.Explained{Statement: name, Query: l.tables.Fill(statement, words...), Reached: reached})
	}
	table := func(key string) map[string]string { return map[string]string{"p_audit_log": key} }
	row := "(" + two + ", 'job', 's8', 'create', 1, NULL, '', '', '', '', '', NULL, NULL)"
	add("audit/insert", nil, "{rows}", row)
	add("audit/insert_whole", nil, "{rows}", "(UTC_TIMESTAMP(6), USER(), X'0000000000000001', "+row[1:])
	bounded, err := Filter{Since: rig.At("01:00"), Until: rig.At("02:00")}.bounds()
	if err != nil {
		t.Fatal(err)
	}
	within := cursor{at: rig.At("01:30"), entry: entryID{7}}
	for name, conditions := range map[string][]string{
		"times": bounded, "cursor": {within.behind()}, "stretch": append(slices.Clone(bounded), within.upTo(), "person = 'ada'"),
	} {
		key := "PRIMARY 16"
		if name == "times" {
			key = "PRIMARY 8"
		}
		add("audit/list "+name, table(key), "{states}", "NULL, NULL", "{index}", "PRIMARY", "{filter}", all(conditions), "{limit}", "100")
		add("audit/reach "+name, table(key), "{index}", "PRIMARY", "{order}", orders["PRIMARY"], "{filter}", all(conditions), "{offset}", "1000")
	}
	add("audit/list object", table("stream 16"), "{states}", "HEX(before_change), HEX(after_change)", "{index}", "stream", "{filter}", Filter{ID: "s7"}.ofObject(), "{limit}", "100")
	add("audit/reach object", table("stream 16"), "{index}", "stream", "{order}", orders["stream"], "{filter}", Filter{Kind: Schedule, ID: "s7"}.ofObject(), "{offset}", "1000")
	add("audit/versions", table("incarnation 16"), "{from}", one, "{limit}", "100")
	add("audit/verb", table("incarnation 34"), "{stream}", one, "{incarnation}", "'2026-11-20 12:00:00'", "{version}", "1")
	add("audit/began", table("stream 16"), "{stream}", one)
	return list
}
