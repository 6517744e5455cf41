package account

import "testing"

func TestRightsOfTheOwnerAreReadFromItsGrants(t *testing.T) {
	for _, test := range []struct {
		grants  []string
		missing int
	}{
		{[]string{"GRANT USAGE ON *.* TO `o`@`%`", "GRANT ALL PRIVILEGES ON `shop`.* TO `o`@`%`"}, 0},
		{[]string{"GRANT SELECT, CREATE, ALTER, DROP, INDEX ON `shop`.* TO `o`@`%`"}, 0},
		{[]string{"GRANT SELECT, CREATE ON `sh\\op`.* TO `o`@`%`"}, 2 + 1},
		{[]string{"GRANT ALL PRIVILEGES ON `other`.* TO `o`@`%`", "GRANT `role`@`%` TO `o`@`%`"}, 4},
	} {
		if missing := withoutRights(test.grants, "shop"); len(missing) != test.missing {
			t.Errorf("%q: %q is missing", test.grants, missing)
		}
	}
}
