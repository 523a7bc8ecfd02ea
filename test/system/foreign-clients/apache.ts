import { spawn } from 'node:child_process'
import { generateKeyPairSync, randomInt } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ClientRegistration } from '../../../lib/index'
import { apacheModules, apacheProgram, requireProgram } from '../../support/program'
import { outputOf } from '../../support/program-output'
import { waitUntil } from '../../support/wait-until'
import { watch } from '../../support/watchdog'
import { register, type Registered } from '../../support/openid-connect/relying-party'

/** Apache with mod_auth_openidc in front of an application that knows nothing of OpenID Connect. */
export interface Apache {
  readonly url: string
  readonly registration: ClientRegistration
  /** What it wrote into its error log. */
  output(): string
  stop(): Promise<void>
}

const portsAtMost = 20

/**
 * @param application the URL of the application that Apache protects.
 * @param signs whether Apache signs its requests.
 */
export async function startApache(
  issuer: string,
  clientId: string,
  application: string,
  signs = false,
): Promise<Apache> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = signs ? String(privateKey.export({ type: 'pkcs8', format: 'pem' })) : undefined
  for (let attempt = 1; ; attempt += 1) {
    // Below the range from which systems take ports for outgoing connections.
    const url = `http://127.0.0.1:${randomInt(11_000, 22_000)}`
    const { registration, registered } = register(issuer, clientId, url, '/callback')
    const started = await startAt(configuration(registered, application, signs), key)
    const keys = signs ? { jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: '1' }] } } : {}
    if (started !== undefined) return { url, registration: { ...registration, ...keys }, ...started }
    if (attempt === portsAtMost) throw new Error('Apache has found no free port.')
  }
}

/** Undefined if the port is taken. */
async function startAt(
  text: string,
  key: string | undefined,
): Promise<Pick<Apache, 'output' | 'stop'> | undefined> {
  const directory = mkdtempSync(join(tmpdir(), 'apache-'))
  // Root starts it, and it serves as www-data.
  chmodSync(directory, 0o755)
  writeFileSync(join(directory, 'httpd.conf'), text)
  if (key !== undefined) writeFileSync(join(directory, 'key.pem'), key)
  // -X: one process without children, so that nothing outlives it.
  const words = ['-X', '-d', directory, '-f', 'httpd.conf']
  const child = spawn(requireProgram(apacheProgram), words, {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const dog = child.pid === undefined ? undefined : watch(child.pid, directory)
  const written = outputOf(child, 'Apache')
  const log = join(directory, 'error.log')
  const output = () => written.text() + (existsSync(log) ? readFileSync(log, 'utf8') : '')
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const stop = async () => {
    child.kill('SIGTERM')
    await written.ended()
    dog?.dismiss()
    rmSync(directory, { recursive: true, force: true })
  }
  // Its file says that it listens. At a port that is taken, another server would answer.
  await waitUntil('Apache listens', async () => hasEnded() || existsSync(join(directory, 'httpd.pid')))
  if (!hasEnded()) return { output, stop }
  const reason = output()
  await stop()
  if (!reason.includes('Address already in use')) throw new Error(`Apache did not start:\n${reason}`)
  return undefined
}

const inObject =
  'response_type client_id redirect_uri scope state nonce max_age code_challenge code_challenge_method'
const requestObject = {
  crypto: { sign_alg: 'RS256' },
  request_object_type: 'request',
  copy_from_request: inObject.split(' '),
}
const signing = `OIDCPrivateKeyFiles 1#key.pem
OIDCRequestObject '${JSON.stringify(requestObject)}'`

const modules = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'proxy', 'proxy_http', 'auth_openidc']

function configuration(
  { issuer, clientId, clientSecret, redirectUri, url }: Registered,
  application: string,
  signs: boolean,
): string {
  return `
${modules.map((name) => `LoadModule ${name}_module ${apacheModules}/mod_${name}.so`).join('\n')}
Listen ${new URL(url).host}
ServerName ${new URL(url).host}
User www-data
Group www-data
DefaultRuntimeDir .
PidFile httpd.pid
ErrorLog error.log
LogLevel warn

OIDCProviderMetadataURL ${issuer}/.well-known/openid-configuration
OIDCClientID ${clientId}
OIDCClientSecret ${clientSecret}
OIDCRedirectURI ${redirectUri}
OIDCCryptoPassphrase test
OIDCScope "openid profile email"
OIDCPKCEMethod S256
OIDCPathAuthRequestParams max_age=3600
OIDCRemoteUserClaim sub
${signs ? signing : ''}

<Location />
  AuthType openid-connect
  Require valid-user
</Location>
<Location /bye>
  AuthType None
  Require all granted
</Location>
ProxyPass /callback !
ProxyPass / ${application}/
`
}
