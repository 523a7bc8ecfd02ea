import { createServer, type ServerResponse } from 'node:http'
import { randomBytes } from 'node:crypto'
import Redis from 'ioredis'
import { serveOn } from '../target'

// The floor without any framework: a form read and parsed, one write or read in Redis, an answer in JSON.
const redis = new Redis(process.env['REDIS_URL'] ?? '')

serveOn(
  createServer((request, response) => {
    if (request.url === '/fixed') return send(response, '{"photos":[]}')
    if (request.method === 'GET')
      return void redis.get('photos').then(() => send(response, '{"photos":[]}'), fail(response))
    let body = ''
    request.setEncoding('latin1')
    request.on('data', (text: string) => (body += text))
    request.on('end', () => {
      const scope = new URLSearchParams(body).get('scope')
      const token = randomBytes(32).toString('base64url')
      const answer = { access_token: token, token_type: 'bearer', expires_in: 3600, scope }
      redis
        .set(`floor:${token}`, JSON.stringify(answer), 'EX', 3600)
        .then(() => send(response, JSON.stringify(answer)), fail(response))
    })
  }),
)

function send(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length }).end(text)
}

const fail = (response: ServerResponse) => () => void response.writeHead(500).end()
