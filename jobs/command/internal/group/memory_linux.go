package group

import (
	"bytes"
	"os"
	"strconv"
)

// memoryOf is how much memory processes have together, in bytes: their own, and what they share by mappings (shared memory, memfd, /dev/shm),
// in RAM and in swap. Files that are mapped do not count, which the kernel can drop; nor does what nobody has mapped.
//
// What is shared counts once. That takes a walk through all pages, which is made only where it may matter: where the sum of what each has by
// itself is above the bound.
func memoryOf(found []process, bound int64) (total int64) {
	for _, one := range found {
		total += sumOf(proc(one.pid, "status"), "RssAnon:", "RssShmem:", "VmSwap:", "HugetlbPages:")
	}
	if total <= bound {
		return total
	}
	total = 0
	for _, one := range found {
		part := sumOf(proc(one.pid, "smaps_rollup"), "Pss_Anon:", "Pss_Shmem:", "SwapPss:", "Private_Hugetlb:", "Shared_Hugetlb:")
		if part == 0 { // it is another user's, or the kernel is an old one
			part = sumOf(proc(one.pid, "status"), "RssAnon:", "RssShmem:", "VmSwap:", "HugetlbPages:")
		}
		total += part
	}
	return total
}

// sumOf adds up the lines of a file of /proc that begin with one of these, in bytes.
func sumOf(file string, names ...string) (sum int64) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(text) {
		for _, name := range names {
			if rest, is := bytes.CutPrefix(line, []byte(name)); is {
				if fields := bytes.Fields(rest); len(fields) > 0 {
					kib, _ := strconv.ParseInt(string(fields[0]), 10, 64)
					sum += kib << 10
				}
			}
		}
	}
	return sum
}
