package page

import "prescient/prescient/ops"

// Place is a view, a download or a deed.
type Place struct {
	Path string
	Role ops.Role
	Deed bool
}

// All are those that there are.
func All() (all []Place) {
	for _, g := range groups(Options{Users: true}) {
		for _, v := range g.Views {
			all = append(all, Place{v.Path, v.Role, false})
		}
		for _, d := range g.Deeds {
			all = append(all, Place{d.Path, d.Role, true})
		}
		for _, d := range g.Downloads {
			all = append(all, Place{d.Path, ops.Viewer, false})
		}
	}
	return all
}
