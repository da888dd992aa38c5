module k8s.io/kubernetes
