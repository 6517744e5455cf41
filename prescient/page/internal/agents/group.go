package agents

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
	return front.Group{
		Templates: templates,
		Views:     []front.View{{Path: "/agents", Title: "Agents", Nav: "Agents", Role: ops.Viewer, Template: "agents", Show: showAgents}},
		Deeds: []front.Deed{
			{Path: "/agents/drain", Title: "Drain an agent", Button: "Drain", Role: ops.Operator, Of: []string{"name"}, Template: "drain", Ask: askOne, Do: drain,
				Said: func(n int) string {
					if n == 0 {
						return "That was wanted already."
					}
					return look.Counted(int64(n), "agent takes", "agents take") + " nothing new from the next heartbeat on."
				}},
			{Path: "/agents/undrain", Title: "Let an agent work again", Button: "Let it work", Role: ops.Operator, Of: []string{"name"}, Template: "undrain", Ask: askOne, Do: undrain,
				Said: func(n int) string {
					if n == 0 {
						return "None of that name was to drain."
					}
					return look.Counted(int64(n), "agent works", "agents work") + " again from the next heartbeat on."
				}},
		},
	}
}
