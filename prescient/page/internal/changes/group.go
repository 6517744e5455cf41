package changes

import (
	"embed"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

//go:embed templates/*.html
var templates embed.FS

// Group has the view.
func Group() front.Group {
	return front.Group{Templates: templates, Views: []front.View{
		{Path: "/audit", Title: "Audit", Nav: "Audit", Role: ops.Viewer, Template: "audit", Show: showAudit},
	}}
}
