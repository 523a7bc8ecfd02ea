import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { shareShapes } from '../../lib/node-http/shared-shape'
import { plainRequest } from '../support/rooms/form-request'

const root = join(__dirname, '..', '..')

// V8 tells of hidden classes in words that only it understands, behind a flag of its own.
const program = `
  const express = require('express')
  const http = require('node:http')
  const { createServer } = require('./lib/index')
  const { shareShapes } = require('./lib/node-http/shared-shape')
  const seen = []
  const app = express()
  app.get('/', (request, response) => {
    if (process.argv[1] === 'shared') shareShapes(request, response)
    seen.push({ request, response, fast: [%HasFastProperties(request), %HasFastProperties(response)] })
    if (seen.length === 1) return
    const [one, other] = seen
    console.log(JSON.stringify({
      shared: [%HaveSameMap(one.request, other.request), %HaveSameMap(one.response, other.response)],
      fast: other.fast,
    }))
    process.exit()
  })
  const make = process.argv[2] === 'created' ? createServer : http.createServer
  const server = make(app).listen(0, '127.0.0.1', async () => {
    const { port } = server.address()
    // The first one waits, so that nothing more is added to it.
    for (let request = 0; request < 2; request++) {
      http.get({ port, path: '/' }).on('error', () => {})
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })
`

function shapes(handler: 'shared' | 'as they come', server: 'plain' | 'created'): unknown {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--allow-natives-syntax', '-r', 'esbuild-register', '-e', program, handler, server],
    { cwd: root, encoding: 'utf8', timeout: 240_000 },
  )
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

const isOld = Number.parseInt(process.versions.v8, 10) < 13

describe('shareShapes', () => {
  it('lets all requests and responses of a plain server share a hidden class where V8 gives each its own', () => {
    expect(shapes('as they come', 'plain')).toMatchObject({ shared: [!isOld, !isOld] })
    expect(shapes('shared', 'plain')).toEqual({ shared: [true, true], fast: [!isOld, !isOld] })
  })

  it('leaves those of createServer() as they are, which is best', () => {
    expect(shapes('shared', 'created')).toEqual({ shared: [true, true], fast: [true, true] })
  })

  it('changes nothing else', () => {
    const [request, response] = [plainRequest({ host: 'localhost' }), Object.freeze({ status: 200 })]
    const before = Reflect.ownKeys(request)
    Reflect.apply(shareShapes, undefined, [request, response])
    expect(Reflect.ownKeys(request)).toEqual(before)
    expect(request.headers).toEqual({ host: 'localhost' })
    expect(response).toEqual({ status: 200 })
  })
})
