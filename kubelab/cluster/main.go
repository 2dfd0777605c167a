// Command cluster is every server of a Kubernetes cluster, and kubectl, in one binary: what runs is
// chosen by the name that it is called by. They share most of their code, so that one binary takes
// a third of the time to build, of the disk and of the memory of the page cache.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	_ "time/tzdata" // time zones of CronJobs, as in the servers' own binaries

	"github.com/coredns/coredns/coremain"
	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

const dns = "coredns"

// dnsFlags are those that CoreDNS puts among the flags of the whole process. A `--version` there
// would hide that of kube-proxy.
var dnsFlags = map[string]bool{
	"conf": true, "dns.port": true, "p": true, "pidfile": true, "plugins": true, "quiet": true, "version": true,
}

// programs are the `main` of each program that this binary stands for.
var programs = map[string]func(){
	dns:                       coremain.Run,
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          server(apiserver.NewAPIServerCommand),
	"kube-controller-manager": server(controllers.NewControllerManagerCommand),
	"kube-proxy":              server(proxy.NewProxyCommand),
	"kube-scheduler": server(func() *cobra.Command {
		return scheduler.NewSchedulerCommand()
	}),
	"kubectl": runKubectl,
	"kubelet": server(func() *cobra.Command {
		return kubelet.NewKubeletCommand(context.Background())
	}),
}

func main() {
	name := filepath.Base(os.Args[0])
	run, known := programs[name]
	if !known {
		fmt.Fprintf(os.Stderr, "cluster: there is no program `%s`; link to this file by one of these names: %s\n", name, strings.Join(names(), ", "))
		os.Exit(2)
	}
	if name != dns {
		forget(dnsFlags)
	}
	run()
}

// forget drops flags from those of the whole process, which several servers add to their own.
func forget(dropped map[string]bool) {
	kept := flag.NewFlagSet(os.Args[0], flag.ExitOnError)
	flag.VisitAll(func(each *flag.Flag) {
		if !dropped[each.Name] {
			kept.Var(each.Value, each.Name, each.Usage)
		}
	})
	flag.CommandLine = kept
}

// server is the `main` of a server whose command line is made by `command`.
func server(command func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(command())) }
}

func runKubectl() {
	// As kubectl's own main does: its verbosity holds while its commands are made, too.
	logs.GlogSetter(kubectl.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}

func names() []string {
	all := make([]string, 0, len(programs))
	for name := range programs {
		all = append(all, name)
	}
	sort.Strings(all)
	return all
}
