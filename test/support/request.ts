import { createServer, type RequestListener, type Server } from 'node:http'
import supertest from 'supertest'

/** A host application, or a server, or its address. */
export type Target = RequestListener | Server | string

// Supertest opens a server for each request. One for each application takes half of the time.
const servers = new Map<RequestListener, Server>()

/** What Supertest makes of a target. The servers of applications stop when the test file ends. */
export const request = (target: Target) => supertest(typeof target === 'function' ? serverOf(target) : target)

function serverOf(application: RequestListener): Server {
  const known = servers.get(application)
  if (known !== undefined) return known
  const server = createServer(application).listen(0)
  servers.set(application, server)
  return server
}

// A program that is no test has no such end.
if (typeof afterAll === 'function')
  afterAll(() => {
    for (const server of servers.values()) server.close().closeAllConnections()
    servers.clear()
  })
