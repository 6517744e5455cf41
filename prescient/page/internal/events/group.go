package events

import (
	"embed"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
)

//go:embed templates/*.html
var templates embed.FS

// Group has the view and the deeds.
func Group() front.Group {
	resent := func(n int) string {
		return look.Counted(int64(n), "event was", "events were") + " put into the outbox again."
	}
	dropped := func(n int) string { return look.Counted(int64(n), "event was", "events were") + " dropped." }
	filter := []string{"topic", "id"}
	return front.Group{
		Templates: templates,
		Views:     []front.View{{Path: "/events", Title: "Events", Nav: "Events", Role: ops.Viewer, Template: "events", Show: showEvents}},
		Deeds: []front.Deed{
			{Path: "/events/resend", Title: "Send events again", Button: "Send again", Role: ops.Operator, Of: []string{numberName}, Template: "resend", Ask: askChosen, Do: resend,
				Said: resent},
			{Path: "/events/drop", Title: "Drop events", Button: "Drop", Role: ops.Operator, Of: []string{numberName}, Template: "drop", Ask: askChosen, Do: drop,
				Said: dropped},
			{Path: "/events/resend_all", Title: "Send all events again that match", Button: "Send again", Role: ops.Operator, Of: filter, Template: "resend-all", Ask: askMatching, Do: toMatching(ops.ResendMatching),
				Said: resent},
			{Path: "/events/drop_all", Title: "Drop all events that match", Button: "Drop", Role: ops.Operator, Of: filter, Template: "drop-all", Ask: askMatching, Do: toMatching(ops.DropMatching),
				Said: dropped},
		},
	}
}
