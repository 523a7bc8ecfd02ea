import { createHash } from 'node:crypto'

/** The verifier that the clients of the tests use; RFC 7636, appendix B. */
export const codeVerifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

export const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url')
