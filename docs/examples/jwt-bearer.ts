import { createAuthorizationServer, type AuthorizationServerOptions } from 'express-authorization-server'
import { jwtBearer } from 'express-authorization-server/grants'

/** Which account an employee of the partner has here, as the host's own database knows it; null or undefined for none. */
type FindAccount = (employee: string) => Promise<string | null | undefined>

/** A server that takes the word of a partner's sign-in for who is there (RFC 7523 2.1). */
export function serverForPartner(
  options: AuthorizationServerOptions,
  jwks_uri: string,
  findAccount: FindAccount,
) {
  const assertions = jwtBearer({
    issuers: [{ issuer: 'https://login.partner.example', jwks_uri }],
    // A name in the partner's books is nobody here until the host's own books say who.
    resourceOwner: ({ subject, claims }, client) =>
      client.client_id === 'partner-desk' && claims['email_verified'] === true
        ? findAccount(subject)
        : undefined,
  })
  return createAuthorizationServer({ ...options, plugins: [assertions] })
}
