package web_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"example.com/informer/07-shared-informer/web"
)

func Example() {
	ctx, stop := context.WithCancel(context.Background())
	server, err := web.Start(ctx, web.Options{Addr: "127.0.0.1:0"}, web.Pages{
		"/hello/:name": func(c *gin.Context) {
			if _, ok := web.Query(c); ok { // no parameters
				c.JSON(http.StatusOK, "hello, "+c.Param("name"))
			}
		},
		"/names": func(c *gin.Context) { web.Stream(c, slices.Values([]string{"ada", "bob"})) },
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, path := range []string{"/hello/ada", "/hello/ada?loud", "/names", "/nobody"} {
		response, err := http.Get(server.URL() + path)
		if err != nil {
			log.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		fmt.Printf("%s\n%s %s\n", path, response.Status, body)
	}
	stop()
	fmt.Println("ended:", server.Wait())
	// Output:
	// /hello/ada
	// 200 OK "hello, ada"
	// /hello/ada?loud
	// 400 Bad Request {"error":"the query: there is no parameter \"loud\" here (known: [])"}
	// /names
	// 200 OK ["ada",
	// "bob"]
	//
	// /nobody
	// 404 Not Found {"error":"there is no page \"/nobody\""}
	// ended: <nil>
}
