import { once } from 'node:events'
import type { Server } from 'node:http'
import express, { type Express } from 'express'
import { createServer } from '../lib/index'
import { CannotStart } from './cannot-start'
import { closerOf } from './close-server'

/** An app that listens and so has its URL, with nothing in it yet: the apps need each other's URLs. */
export interface Listener {
  readonly url: string
  readonly app: Express
  close(): Promise<void>
}

/** @throws CannotStart when the port cannot be had; 0 takes any free one. */
export async function listen(port: number): Promise<Listener> {
  const app = express()
  const server = createServer(app)
  const close = closerOf(server)
  // The password is printed and the traffic is not encrypted: nothing for the network around.
  server.listen(port, 'localhost')
  await once(server, 'listening').catch((cause: unknown) => {
    throw new CannotStart(
      `Port ${port} ${faultOf(cause)}: name the first of seven free ones, as in PORT=4000 npm run demo.`,
      { cause },
    )
  })
  return { url: `http://localhost:${portOf(server)}`, app, close }
}

function faultOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  if (code === 'EADDRINUSE') return 'is taken'
  return code === 'EACCES' ? 'needs more rights than this process has' : `cannot be used (${code})`
}

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string')
    throw new Error('The server does not listen at a port.')
  return address.port
}
