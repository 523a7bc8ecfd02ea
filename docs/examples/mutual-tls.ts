import { createHash } from 'node:crypto'
import {
  invalidGrant,
  invalidRequest,
  type AuthorizationServerOptions,
  type ClientAuthenticationMethod,
  type ClientCertificate,
  type ClientMember,
  type Plugin,
} from 'express-authorization-server'

// RFC 8705: certificates of clients. The TLS server asks each connection for one, and lets all of them in:
// `https.createServer({ key, cert, ca, requestCert: true, rejectUnauthorized: false }, app)`, where `ca` are the
// authorities whose certificates name clients. TLS must end in this process: behind a proxy, there is no certificate.

const boundTokens = 'tls_client_certificate_bound_access_tokens'

declare module 'express-authorization-server' {
  interface HostClientMembers {
    /** Binds the tokens of the client to its certificate (RFC 8705 3.4). Default false. */
    readonly tls_client_certificate_bound_access_tokens?: boolean
  }
}

/** RFC 8705 3.1, `x5t#S256`. */
const thumbprintOf = (certificate: ClientCertificate | undefined) =>
  certificate && createHash('sha256').update(certificate.x509.raw).digest('base64url')

/** As `openssl x509 -subject -nameopt RFC2253,-esc_msb` writes it (RFC 4514): the most special name first. */
const subjectOf = ({ x509 }: ClientCertificate) =>
  x509.subject
    .split('\n')
    .toReversed()
    .map((part) => part.split(' + ').toReversed().join('+'))
    .join(',')

// By name. Otherwise a client whose own certificate is among `ca` could have any subject.
const isSelfSigned = ({ x509 }: ClientCertificate) => x509.subject === x509.issuer

/** RFC 8705 2: the handshake has proven the key of the certificate, so only `credential` is left to compare. */
function method(
  description: Pick<ClientAuthenticationMethod, 'name' | 'mistakeIn'>,
  credentialOf: (certificate: ClientCertificate) => string | undefined,
): ClientAuthenticationMethod {
  return {
    ...description,
    // A certificate says nothing of the client: it may be there for the tokens alone.
    byConnection: true,
    read({ certificate, body }) {
      const clientId = body.get('client_id')
      const credential = certificate && credentialOf(certificate)
      return clientId === undefined || credential === undefined ? undefined : { clientId, credential }
    },
    async verify(client, credential) {
      const entry = client?.credentials[description.name]
      return Array.isArray(entry) ? entry.includes(credential) : entry === credential
    },
  }
}

/** RFC 8705 2.1: `credentials: { tls_client_auth: 'CN=bank,O=Bank,C=DE' }`, with a certificate of an authority. */
const byAuthority = method(
  {
    name: 'tls_client_auth',
    mistakeIn: (entry) =>
      typeof entry === 'string' && /^[\w.]+=./.test(entry)
        ? undefined
        : 'must be the subject of the certificate, such as CN=bank,O=Bank,C=DE.',
  },
  (certificate) => (certificate.trusted && !isSelfSigned(certificate) ? subjectOf(certificate) : undefined),
)

/** RFC 8705 2.2: `credentials: { self_signed_tls_client_auth: [thumbprint] }`; two while the client changes it. */
const bySelf = method(
  {
    name: 'self_signed_tls_client_auth',
    mistakeIn: (entry) =>
      Array.isArray(entry) &&
      entry.length > 0 &&
      entry.every((one) => typeof one === 'string' && /^[\w-]{43}$/.test(one))
        ? undefined
        : 'must be a list of SHA-256 thumbprints of certificates, in base64url.',
  },
  (certificate) => (isSelfSigned(certificate) ? thumbprintOf(certificate) : undefined),
)

const boundTokensMember: ClientMember = {
  name: boundTokens,
  mistakeIn: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false.'),
}

/** Give it to the server, and to each guard of another process: without it, a guard on the store checks no certificate. */
export const mutualTls: Plugin = {
  name: 'mutual-tls',
  clientAuthenticationMethods: [byAuthority, bySelf],
  clientMembers: [boundTokensMember],
  // RFC 8705 3.3
  metadata: { [boundTokens]: true },
  prepare: async ({ certificate }) => thumbprintOf(certificate),
  issue({ client, grantType, evidence, authorizationData }) {
    const isBound = grantType === 'refresh_token' && authorizationData !== undefined
    if (!isBound && client.members[boundTokens] !== true) return undefined
    if (isBound && authorizationData !== evidence)
      throw invalidGrant('certificate_wrong', 'The refresh token belongs to another certificate.')
    if (typeof evidence !== 'string')
      throw invalidRequest('certificate_missing', 'This client needs a connection with its certificate.')
    // RFC 8705 4: nothing else proves a public client at its refresh.
    const ofPublic = client.client_type === 'public' && { authorizationData: evidence, provesKey: isBound }
    return { tokenData: evidence, ...ofPublic }
  },
  bindsRefreshTokens: true,
  confirmationMethod: 'x5t#S256',
  admit: ({ request, tokenData }) =>
    tokenData === undefined || tokenData === thumbprintOf(request.certificate)
      ? undefined
      : 'certificate_wrong',
}

/** What switches it on: the option of the server, and registrations of clients. */
export const optionsWith = (thumbprint: string) =>
  ({
    plugins: [mutualTls],
    clients: [
      {
        client_id: 'bank',
        client_type: 'confidential',
        credentials: { tls_client_auth: 'CN=bank.example' },
        [boundTokens]: true,
        grant_types: ['client_credentials'],
        scope: 'photos:read',
      },
      {
        client_id: 'broker',
        client_type: 'confidential',
        credentials: { self_signed_tls_client_auth: [thumbprint] },
        [boundTokens]: true,
        grant_types: ['client_credentials'],
        scope: 'photos:read',
      },
    ],
  }) satisfies Partial<AuthorizationServerOptions>
