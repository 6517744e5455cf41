// Package rule is rules as data: which check comes after which occasion. It is what apps and workers know of rules; room rulebook changes them.
//
// An occasion ("order.placed") is what an app reports, by Client.Happened or CALL happened. A [Rule] makes a check of it, after a delay with a spread, which
// other occasions end ("order.shipped"). The tag of its checks is rule:<name>: an entity has one check of each rule. A rule keeps its
// occasion and job_exec.
//
// What a version says stands in rule_version, and never changes. A row of rule has the current version, and two numbers: pending checks of versions before
// moved_to go to that one, those of versions before ended_to end ([Standing.Fate]). A deleted rule keeps its row.
//
// A check has rule_version and occasion_at, NULL where no rule made it. It is the rule's while it was never called and is due when its version says;
// whoever moved it otherwise wins. Its payload is the rule's constant with the data in it ([Merge]); a later version leaves that.
//
// An app and a change of a rule never wait for one another, unless the app is SERIALIZABLE. No check is lost, and none is called before its time by a version that stood when
// its slot run read it ([ReadAll]). A shorter delay may find it late.
package rule
