// Package rules has the views of rules, and the deeds that make, change, switch and delete them.
package rules

import (
	"embed"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
)

//go:embed templates/*.html
var templates embed.FS

// saidOf says what was done to a rule.
func saidOf(done string) func(n int) string {
	return func(n int) string {
		if n == 0 {
			return "Nothing was changed: it was so already."
		}
		return look.Counted(int64(n), "rule was", "rules were") + " " + done + "."
	}
}

// Group has the views and deeds.
func Group() front.Group {
	adds := front.Deed{Path: "/rules/new", Title: "New rule", Button: "Make the rule", Role: ops.Operator, Template: "rule-form", Ask: askNew, Do: create, Said: saidOf("made")}
	adds.Review = &front.Review{Next: "Look what it comes to", Fields: append([]string{"name", "occasion", "job_exec"}, formFields...), Template: "rule-review", Look: reviewNew}
	edits := front.Deed{Path: "/rules/edit", Title: "Edit a rule", Button: "Save the rule", Role: ops.Operator, Of: []string{"name"}, Template: "rule-form", Ask: askEdit, Do: edit, Said: saidOf("changed")}
	edits.Review = &front.Review{Next: "Look what changes", Fields: formFields, Template: "rule-review", Look: reviewEdit}
	return front.Group{Templates: templates,
		Views: []front.View{
			{Path: "/rules", Title: "Rules", Nav: "Rules", Role: ops.Viewer, Template: "rules", Show: showRules},
			{Path: "/rule", Title: "Rule", Role: ops.Viewer, Template: "rule", Show: showRule},
			{Path: "/rules/try", Title: "Try a rule", Role: ops.Operator, Template: "rule-try", Show: showTry},
		},
		Deeds: []front.Deed{adds, edits,
			{Path: "/rules/pause", Title: "Switch a rule off", Button: "Switch it off", Role: ops.Operator, Of: []string{"name"}, Template: "rule-pause", Ask: askEnding, Do: pause, Said: saidOf("switched off")},
			{Path: "/rules/resume", Title: "Switch a rule on", Button: "Switch it on", Role: ops.Operator, Of: []string{"name"}, Template: "rule-resume", Ask: askResume, Do: resume, Said: saidOf("switched on")},
			{Path: "/rules/delete", Title: "Delete a rule", Button: "Delete it", Role: ops.Operator, Of: []string{"name"}, Template: "rule-delete", Ask: askEnding, Do: remove, Said: saidOf("deleted")},
		}}
}
