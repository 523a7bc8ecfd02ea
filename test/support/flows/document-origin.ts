import type { RequestListener } from 'node:http'
import type { ClientApplication } from './clients'
import { authority, httpsOrigin } from '../https-origin'
import type { Listener } from '../listening'

const identity = authority.issue(['notes.example', '*.notes.example', '127.0.0.1', 'localhost'])

/** An https origin with the document of a client, which counts how often anybody asks. */
export class DocumentOrigin {
  /** What the document says, beyond the usual. An undefined member is left out. */
  members: Readonly<Record<string, unknown>> = {}
  /** Answers in place of the document. */
  answer: RequestListener | undefined
  asked = 0

  private constructor(readonly listener: { current?: Listener }) {}

  static async start(): Promise<DocumentOrigin> {
    const origin = new DocumentOrigin({})
    origin.listener.current = await httpsOrigin(identity, (request, response) => {
      origin.asked += 1
      if (origin.answer !== undefined) return origin.answer(request, response)
      response.setHeader('Content-Type', 'application/json').setHeader('Cache-Control', 'max-age=300')
      response.end(JSON.stringify({ ...origin.document, ...origin.members }))
    })
    return origin
  }

  get clientId(): string {
    return `https://notes.example:${this.listener.current?.port}/oauth/client.json`
  }

  get document() {
    return {
      client_id: this.clientId,
      client_name: 'Note Taker',
      client_uri: 'https://bank.example/',
      logo_uri: 'https://bank.example/logo.png',
      redirect_uris: ['http://127.0.0.1/callback', 'https://notes.example/callback'],
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    }
  }

  /** The client, as its developers see it. They have registered nothing. */
  get client(): ClientApplication {
    return {
      registration: {
        client_id: this.clientId,
        client_type: 'public',
        redirect_uris: ['http://127.0.0.1:51004/callback'],
        scope: 'photos:read',
      },
    }
  }

  /** The options with which a server finds this origin. */
  get reach() {
    return { ca: authority.ca, lookup: async () => [{ address: '127.0.0.1' }] }
  }

  /** How many connections the origin has had. */
  get connections(): number {
    return this.listener.current?.connections() ?? 0
  }

  async stop(): Promise<void> {
    await this.listener.current?.close()
  }
}
