package cmd

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// versionReport is what version prints.
type versionReport struct {
	Program  string `json:"program"`
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		GroupID: groupSetup,
		Short:   "Say which version this is",
		Args:    a.noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := a.version()
			if a.json {
				return printJSON(cmd.OutOrStdout(), v)
			}
			if v.Revision != "" {
				v.Revision = ", revision " + v.Revision
			}
			return say(cmd.OutOrStdout(), "%s %s%s (%s, %s)", v.Program, v.Version, v.Revision, v.Go, v.Platform)
		},
	}
}

func (a *app) version() versionReport {
	v := versionReport{Program: a.options.Program, Version: a.options.Version, Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if v.Version == "" {
		v.Version = info.Main.Version
	}
	changed := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v.Revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	if v.Revision != "" {
		v.Revision += changed
	}
	return v
}
