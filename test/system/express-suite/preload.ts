import { appendFileSync } from 'node:fs'
import http from 'node:http'
import { createServer } from '../../../lib/http/create-server'

const plain = http.createServer
const noted = process.env['SERVERS_MADE'] ?? ''

function isApplication(word: unknown): word is http.RequestListener {
  return typeof word === 'function' && 'request' in word && 'response' in word
}

// What makes a server for an Express application, as supertest and app.listen() do, gets one of createServer().
function createdServer(...words: readonly unknown[]): http.Server {
  const [app, ...more] = words
  if (more.length > 0 || !isApplication(app)) return Reflect.apply(plain, http, words)
  appendFileSync(noted, '+')
  return createServer(app)
}

// Such a server would be a plain one, and prove nothing.
process.on('warning', (warning) => {
  if ('code' in warning && warning.code === 'EAS_PLAIN_SERVER') appendFileSync(noted, '-')
})

Object.assign(http, { createServer: createdServer })
