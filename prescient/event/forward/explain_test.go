package forward

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient/event"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
)

func TestNoStatementOfEventsScansATable(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		r.Needs(t, rig.ReadPlans)
		var outbox, aside []string
		for i := range 6400 {
			row := fmt.Sprintf("%d, 'e%05d', 't%d', 'k%d', UTC_TIMESTAMP(6), 'x', UTC_TIMESTAMP(6)", i%64, i, i%3, i%500)
			outbox = append(outbox, fmt.Sprintf("(%d, %s)", i+1, row))
			aside = append(aside, fmt.Sprintf("(%d, %s, UTC_TIMESTAMP(6), 'r')", i+1, row))
		}
		r.Exec("INSERT INTO p_event_outbox (seq, shard, id, topic, event_key, generated_at, payload, inserted_at) VALUES " + strings.Join(outbox, ","))
		r.Exec("INSERT INTO p_event_set_aside (seq, shard, id, topic, event_key, generated_at, payload, inserted_at, refused_at, reason) VALUES " + strings.Join(aside, ","))
		r.Exec("ANALYZE TABLE p_event_outbox, p_event_set_aside, p_event_shard")
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		f := &Forwarder{tables: *r.Tables()}
		// Those that are left out read an index of few entries, or few of its entries, from its beginning.
		rig.CheckPlans(t, conn, explained(f), f.tables.Stmt, []string{"event"}, "event/waiting", "event/last", "event/backlog", "event/shards", "event/absent")
	})
}

func explained(f *Forwarder) (list []rig.Explained) {
	const byShard, bySeq = "PRIMARY 1", "seq 8"
	add := func(statement, query string, reached map[string]string, args ...any) {
		list = append(list, rig.Explained{Statement: statement, Query: query, Args: args, Reached: reached})
	}
	get, fill := f.tables.Stmt.Get, f.tables.Fill
	ours := map[string]string{"p_event_shard": byShard}
	add("event/present", get("event/present"), nil, "f", int64(15e6))
	for _, n := range []int{1, 2, 4} {
		shards := make([]*shard, n)
		held := make([]int, n)
		for i := range shards {
			shards[i], held[i] = &shard{number: i}, i
		}
		add(fmt.Sprintf("event/renew %d", n), fill("event/renew", "{shards}", tokensOf(shards)), ours, int64(15e6))
		add(fmt.Sprintf("event/give_back %d", n), fill("event/give_back", "{shards}", tokensOf(shards)), ours)
		add(fmt.Sprintf("event/take %d", n), fill("event/take", "{shards}", numbers(held)), ours, 1, "f", int64(15e6))
		add(fmt.Sprintf("event/fence %d", n), fill("event/fence", "{shards}", tokensOf(shards)), ours)
	}
	for _, n := range []int{1, 2, event.PerStatement, mostSettled} {
		seqs := make([]uint64, n)
		for i := range seqs {
			seqs[i] = uint64(i + 1)
		}
		add(fmt.Sprintf("event/delete %d", n), fill("event/delete", "{seqs}", numbers(seqs)), map[string]string{"one": bySeq})
		add(fmt.Sprintf("event/free %d", n), fill("event/free", "{seqs}", numbers(seqs)), map[string]string{"p_event_outbox": bySeq})
		add(fmt.Sprintf("event/there %d", n), fill("event/there", "{seqs}", numbers(seqs)), map[string]string{"p_event_outbox": bySeq})
		add(fmt.Sprintf("event/keep %d", n), fill("event/keep", "{seqs}", numbers(seqs)), map[string]string{"one": bySeq}, "2026-11-20")
		if n > event.PerStatement {
			continue
		}
		add(fmt.Sprintf("event/resend %d", n), fill("event/resend", "{seqs}", numbers(seqs)), map[string]string{"p_event_set_aside": "PRIMARY 8"})
		add(fmt.Sprintf("event/chosen_set_aside %d", n), fill("event/chosen_set_aside", "{seqs}", numbers(seqs)), map[string]string{"p_event_set_aside": "PRIMARY 8"})
		add(fmt.Sprintf("event/forget_set_aside %d", n), fill("event/forget_set_aside", "{seqs}", numbers(seqs)), map[string]string{"p_event_set_aside": "PRIMARY 8"})
	}
	for _, but := range []string{"", without([]string{"t1"}, []chain{{"t2", "k7"}})} {
		add("event/read "+but, fill("event/read", "{but}", but), map[string]string{"p_event_outbox": byShard}, 3, window)
	}
	one := map[string]string{"p_event_outbox": "PRIMARY 9"}
	add("event/payload", get("event/payload"), one, 3, 4)
	add("event/set_aside", get("event/set_aside"), map[string]string{"one": "PRIMARY 9"}, 17, "2026-11-20", "r", 3, 4)
	add("event/list_set_aside", fill("event/list_set_aside", "{bytes}", "COALESCE(LENGTH(payload), 0)", "{but}", ""), map[string]string{"p_event_set_aside": "PRIMARY 8"}, 0, 100)
	add("event/count_set_aside", fill("event/count_set_aside", "{but}", "AND topic = 't' "), map[string]string{"p_event_set_aside": "PRIMARY 8"}, 0, 100)
	add("event/insert", fill("event/insert", "{trace}", "", "{rows}", "(1, 'a-1', 't', 'a', '2026-11-20', NULL, UTC_TIMESTAMP(6))"), nil)
	add("event/count", fill("event/count", "{rows}", "('2026-11-20', 't', 1, 0)"), nil)
	add("event/failing", fill("event/failing", "{rows}", "('t', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 'e', 'r')"), nil)
	add("event/works", fill("event/works", "{topics}", "'t', 'u'"), map[string]string{"p_event_topic": "PRIMARY 130"})
	add("event/seen", get("event/seen"), nil, "c", "e")
	return list
}
