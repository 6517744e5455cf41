// Package service is a process that works, in one piece. [New] makes what job_execs are built with, the program fills the registry, and [Service.Run]
// works until its context ends. Then nothing new is started, what is called has StopGrace, long runs are handed on, and the forwarder ends last.
package service
