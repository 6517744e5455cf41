// Package slot has the views of slots: Now, with what is wrong and under way; a day of them; and one.
package slot
