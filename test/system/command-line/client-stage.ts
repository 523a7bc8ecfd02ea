import type { Redis } from 'ioredis'
import { run } from '../../../lib/command-line/run'
import type { AuthorizationServerOptions } from '../../../lib/index'
import { redisStore, type RedisStore } from '../../../lib/paths/redis'
import { registeredClients } from '../../../lib/paths/registration'
import type { Finished } from '../../support/command-line'
import { application } from '../../support/flows/application'
import { outcomeOf } from '../../support/flows/outcome'
import type { RedisServer } from '../../support/redis-server'
import { uniquePrefix } from '../../support/stores/redis-under-test'
import { withRedis } from '../../support/with-redis'

export const uri = 'https://book.example/callback'
export const web = [
  '--type=confidential',
  '--scope=photos:read reports:write',
  '--grant-type=client_credentials',
]
export const phone = ['--type=public', '--scope=photos:read', `--redirect-uri=${uri}`]
export const grant = { grant_type: 'client_credentials', scope: 'photos:read' }

/** Runs a command in this process. */
export async function here(words: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Finished> {
  const { status, output, remarks } = await run(words, environment)
  const [stdout = '', stderr = ''] = [output, remarks].map((text) => (text === '' ? '' : `${text}\n`))
  return { status, stdout, stderr }
}

/** A command that was refused, with these lines among its mistakes. */
export const refused = (done: string, lines: string) => ({
  status: 1,
  stdout: '',
  stderr: expect.stringContaining(`The client cannot be ${done}:\n  - ${lines}`),
})

/** The clients of a store on Redis, which is empty before each test, and the commands on them. */
export class ClientStage {
  redis: Redis | undefined
  url = ''
  port = 0
  prefix = ''

  constructor() {
    withRedis(({ client, server }: { readonly client: Redis; readonly server: RedisServer }) => {
      this.redis = client
      this.url = server.url
      this.port = server.port
    })
    beforeEach(() => void (this.prefix = uniquePrefix()))
  }

  get store(): RedisStore {
    if (this.redis === undefined) throw new Error('Redis has not started.')
    return redisStore({ client: this.redis, prefix: this.prefix })
  }

  get clients() {
    return registeredClients(this.store)
  }

  /** @param server of Redis, such as a proxy. */
  readonly urlOf = (server = this.url) => `${server}?prefix=${this.prefix}`

  readonly client = (...words: readonly string[]): Promise<Finished> =>
    here(['client', ...words], { STORE_URL: this.urlOf() })

  readonly answerOf = async (...words: readonly string[]): Promise<Readonly<Record<string, string>>> => {
    const { status, stdout, stderr } = await this.client(...words, '--json')
    if (status !== 0) throw new Error(stderr)
    return JSON.parse(stdout)
  }

  /** A client that acts for itself. */
  readonly added = async () => {
    const { client_id = '', client_secret = '' } = await this.answerOf('add', ...web)
    return { client_id, client_secret }
  }

  readonly serving = (options: Partial<AuthorizationServerOptions> = {}) => {
    const { store } = this
    return application({ store, clients: registeredClients(store), storeDeadline: 10, ...options })
  }

  /** What a client gets that asks for a token for itself. */
  readonly tokensFor = async (client_id: string, secret: string): Promise<string> => {
    const registration = { client_id, client_type: 'confidential', scope: 'photos:read' } as const
    return outcomeOf(await this.serving().flow.request({ registration, secret }, grant))
  }
}
