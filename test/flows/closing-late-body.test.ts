import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { application } from '../support/flows/application'

const isPort = (address: AddressInfo | string | null): address is AddressInfo => typeof address === 'object'

test.each([
  ['/token', 400],
  ['/revoke', 503],
  ['/introspect', 503],
])(
  'A client whose body comes after the head hears that %s is closing, and is not cut off',
  async (path, status) => {
    const { app, oauth } = application()
    await oauth.close()
    const server = createServer(app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const socket = connect(isPort(address) ? address.port : 0, '127.0.0.1')
    let answer = ''
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
    const body = 'grant_type=client_credentials'
    const head = [
      `POST ${path} HTTP/1.1`,
      'Host: localhost',
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${body.length}`,
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    await once(server, 'request')
    await setTimeout(20)
    expect(answer).toBe('')
    socket.write(body)
    await once(socket, 'end')
    const [, told] =
      /^HTTP\/1\.1 (\d+) [^]*\r\nConnection: close\r\n[^]*"temporarily_unavailable"/.exec(answer) ?? []
    expect(told).toBe(String(status))
    socket.destroy()
    server.close()
  },
)
