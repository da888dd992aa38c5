// The stock components: etcd, kube-apiserver and kube-scheduler, each with its own flags.

package main

import (
	"fmt"
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// runEtcd returns only when etcd has nothing left to do; on a signal etcd
// shuts down and then ends the process by that same signal.
func runEtcd(args []string) int {
	etcdmain.Main(append([]string{"etcd"}, args...))
	return exitOK
}

func runAPIServer(args []string) int {
	actAs("kube-apiserver", args)
	return cli.Run(apiserver.NewAPIServerCommand())
}

func runScheduler(args []string) int {
	actAs("kube-scheduler", args)
	return cli.Run(scheduler.NewSchedulerCommand())
}

// actAs gives the process the command line that the component would have as a
// binary of its own: cobra takes the flags from it, and client-go the user
// agent, which becomes the name of the field manager.
func actAs(name string, args []string) {
	os.Args = append([]string{name}, args...)
}

func printVersion([]string) int {
	fmt.Println(version.Get().GitVersion)
	return exitOK
}
