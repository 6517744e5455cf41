package check

import (
	"embed"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
)

//go:embed templates/*.html
var templates embed.FS

// Group has the views and deeds.
func Group() front.Group {
	return front.Group{Templates: templates,
		Views: []front.View{
			{Path: "/find", Title: "Find", Nav: "Find", Role: ops.Viewer, Template: "find", Show: showLife},
			{Path: "/pending", Title: "Pending checks", Nav: "Pending", Role: ops.Viewer, Template: "pending", Show: showPending},
			{Path: "/ends", Title: "Ends", Nav: "Ends", Role: ops.Viewer, Template: "ends", Show: showEnds},
		},
		Downloads: []front.Download{
			front.NewDownload("/pending/export", ops.ExportPending, func(a front.Asked) ops.ExportAsked { return filterOf(a).exported(a) }),
			front.NewDownload("/ends/export", ops.ExportEnded, func(a front.Asked) ops.ExportEndsAsked {
				return ops.ExportEndsAsked{ExportAsked: filterOf(a).exported(a), Outcome: a.Text("outcome")}
			}),
		},
		Deeds: []front.Deed{
			{Path: "/checks/cancel", Title: "Cancel", Button: "Cancel the check", Role: ops.Operator, Of: []string{"entity", "job_exec", "tag"}, Template: "cancel", Ask: askOne, Do: cancel,
				Said: func(n int) string { return look.Counted(int64(n), "check was", "checks were") + " cancelled." }},
			{Path: "/checks/reschedule", Title: "Move to another time", Button: "Move the check", Role: ops.Operator, Of: []string{"entity", "job_exec", "tag"}, Template: "reschedule", Ask: askOne, Do: reschedule,
				Said: func(int) string { return "The check was moved." }},
		}}
}
