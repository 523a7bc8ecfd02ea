import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bundled } from '../bundled'

const root = join(__dirname, '..', '..', '..')

/** A warning as Node gives it to listeners. */
export interface Warning {
  readonly name: string
  readonly code: string
  readonly message: string
}

// Each warning is given once per process, so each program has a process of its own.
const prologue = (v8: string) => `
  Object.defineProperty(process, 'versions', { value: { ...process.versions, v8: '${v8}' } })
  const express = require(${JSON.stringify(bundled(join(root, 'node_modules/express/index.js'), 'bundled'))})
  const suite = require(${JSON.stringify(bundled(join(root, 'lib/index.ts')))})
  const { createAuthorizationServer, memoryStore } = suite
  const warnings = []
  process.on('warning', ({ name, code, message }) => warnings.push({ name, code, message }))
  process.on('exit', () => console.log(JSON.stringify(warnings)))
  const options = { issuer: 'http://localhost', clients: [], scopes: { a: 'A' }, resourceOwner: () => undefined }
  const serve = async (app, ask) => {
    const server = app.listen(0)
    await new Promise((resolve) => server.once('listening', resolve))
    await ask('http://127.0.0.1:' + server.address().port)
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
`

/**
 * The warnings of this suite that a program gives, in order, in the turn of the event loop behind it at the latest. It
 * finds `express`, `suite` and `serve`.
 *
 * @param v8 the version of V8 that the suite sees. Default that of this process.
 */
export function warningsOf(program: string, v8 = process.versions.v8): readonly Warning[] {
  const source = `${prologue(v8)}\n;(async () => {${program}})().then(() => setImmediate(() => {}))`
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--no-warnings', '-e', source], {
    cwd: root,
    encoding: 'utf8',
    timeout: 120_000,
  })
  if (status !== 0) throw new Error(stderr)
  const warnings: readonly Warning[] = JSON.parse(stdout)
  return warnings.filter(({ name }) => name === 'AuthorizationServerWarning')
}
