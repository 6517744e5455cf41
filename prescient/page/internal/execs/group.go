package execs

import (
	"embed"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

//go:embed templates/*.html
var templates embed.FS

// Group has the views and the deeds.
func Group() front.Group {
	return front.Group{
		Templates: templates,
		Views: []front.View{
			{Path: "/execs", Title: "job_execs", Nav: "job_execs", Role: ops.Viewer, Template: "execs", Show: showAll},
			{Path: "/exec", Title: "job_exec", Role: ops.Viewer, Template: "exec", Show: showOne},
			{Path: "/advice", Title: "When to check", Role: ops.Viewer, Template: "advice", Show: showAdvice},
		},
		Deeds: []front.Deed{
			{Path: "/execs/pause", Title: "Pause", Button: "Pause", Role: ops.Operator, Of: []string{"job_exec"}, Template: "pause", Ask: askPause, Do: pause,
				Said: func(int) string { return "It is paused." }},
			{Path: "/execs/resume", Title: "Resume", Button: "Resume", Role: ops.Operator, Of: []string{"job_exec"}, Template: "resume", Ask: askPause, Do: resume,
				Said: func(n int) string {
					if n == 0 {
						return "It was not paused."
					}
					return "It is not paused any more."
				}},
		},
	}
}
