package health

import (
	"embed"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

//go:embed templates/*.html
var templates embed.FS

// Group has the views.
func Group() front.Group {
	return front.Group{Templates: templates, Views: []front.View{
		{Path: "/health", Title: "Health", Nav: "Health", Role: ops.Viewer, Template: "health", Show: showHealth},
		{Path: "/blocking", Title: "Who waits for whom", Nav: "Blocking", Role: ops.Admin, Template: "blocking", Show: showBlocking},
	}}
}
