package large

import (
	"context"
	"net/http"

	"prescient/prescient/ops"
	views "prescient/prescient/page"

	"prescient/scripts/bench/internal/rig"
)

// Page is the section of what people look at.
var Page = rig.Section{
	Name: "page",
	About: "each view of the page, by one who looks and by 20 at once, among 30 million checks pending and 50 million ended, as in section answers; " +
		"whoever leaves a view open looks once a slot, so that its statements are what they cost an idle installation in each slot",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error { return measurePage(ctx, b, s) },
}

// looked are the views, with filters that find much, little and something rare.
var looked = []string{
	"", "slots", "slot?slot={slot}", "find?entity=order/4711", "find?entity=account/main",
	"pending", "pending?job_exec=refund-stuck", "pending?slot={slot}", "ends", "ends?job_exec=refund-stuck", "ends?outcome=timed_out", "ends?from={middle}",
	"execs", "exec?job_exec=order-unshipped", "advice?job_exec=order-unshipped", "schedules", "schedule?id=nightly", "schedules/preview?crontab=@daily&zone=Europe/Berlin", "jobs", "job?name=close-the-day", "rules", "rule?name=remind",
	"agents", "events", "audit", "bulk", "bulk/new?job_exec=refund-stuck", "checks/cancel?entity=order/4711&job_exec=order-unshipped", "health", "told", "blocking",
}

func measurePage(ctx context.Context, b *rig.Bench, s *rig.Server) error {
	return askServed(ctx, b, s, looked, "/", func(o *ops.Ops) (http.Handler, error) {
		return views.New(o, views.Options{Rate: asOftenAsTheyCan, Who: func(r *http.Request) (views.User, error) {
			return views.User{Name: r.Header.Get("Authorization"), Role: ops.Admin}, nil
		}})
	})
}
