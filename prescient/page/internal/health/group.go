package health

import (
	"embed"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

//go:embed templates/*.html
var templates embed.FS

// Group has the views, and the deed for receivers that could not be reached.
func Group() front.Group {
	return front.Group{
		Templates: templates,
		Views: []front.View{
			{Path: "/health", Title: "Health", Nav: "Health", Role: ops.Viewer, Template: "health", Show: showHealth},
			{Path: "/told", Title: "Who is told of findings", Role: ops.Viewer, Template: "told", Show: showTold},
			{Path: "/blocking", Title: "Who waits for whom", Nav: "Blocking", Role: ops.Admin, Template: "blocking", Show: showBlocking},
		},
		Deeds: []front.Deed{
			{Path: "/told/again", Title: "Try again to tell receivers", Button: "Try again", Role: ops.Operator, Template: "told-again", Ask: showTold, Do: tellAgain,
				Said: func(n int) string {
					if n == 0 {
						return "No worker tells receivers now."
					}
					return "What waits is sent within half a minute."
				}},
		},
	}
}
