package bulk

import (
	"embed"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

//go:embed templates/*.html
var templates embed.FS

// Group has the views and deeds.
func Group() front.Group {
	return front.Group{Templates: templates,
		Views: []front.View{
			{Path: "/bulk", Title: "Deeds in bulk", Nav: "In bulk", Role: ops.Viewer, Template: "bulk", Show: showList},
			{Path: "/bulk/run", Title: "Deed in bulk", Role: ops.Viewer, Template: "bulk-run", Show: showRun},
		},
		Deeds: []front.Deed{
			{Path: "/bulk/new", Title: "Do something to all that match", Button: "Do it to all of them", Role: ops.Operator, Template: "bulk-form", Ask: askNew, Do: start,
				Review: &front.Review{Next: "Look to what", Fields: formFields, Template: "bulk-review", Look: preview},
				Said:   func(int) string { return "It has begun. It goes on when this page is closed." }},
			{Path: "/bulk/stop", Title: "Stop a deed in bulk", Button: "Stop it", Role: ops.Operator, Of: []string{"number"}, Template: "bulk-stop", Ask: showRun, Do: stop,
				Said: func(int) string { return "It stops after its present step." }},
		}}
}
