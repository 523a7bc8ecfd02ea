import { grantableScope, invalidGrant, mayRefresh, type GrantType } from 'express-authorization-server'

/** Who holds which voucher, as the host's own database knows it; many databases return null for none. */
type FindHolder = (voucher: string) => Promise<string | null | undefined>

const lifetime = 30 * 24 * 3600
const refused = () => invalidGrant('voucher_refused', 'The voucher is unknown or was used before.')

/** An extension grant (RFC 6749 4.5): a code that a person got on paper, good for tokens once. */
export function voucherGrant(findHolder: FindHolder): GrantType {
  return {
    name: 'https://photos.example/grants/voucher',
    parameters: ['voucher', 'scope'],
    credentialParameters: ['voucher'],
    async handle({ client, parameters, defaultScope, context }) {
      const voucher = parameters.require('voucher')
      const scope = grantableScope(parameters.get('scope'), client, defaultScope)
      const subject = await findHolder(voucher)
      // Null as well as undefined. The server refuses whatever else is no subject, as a fault of the look-up.
      if (subject == null) throw refused()
      // The write that brings the tokens uses the voucher up: no use without tokens, and of parallel requests one wins.
      const oneTimeUse = { key: voucher, until: context.now + lifetime, refusal: refused }
      return { grant: { subject, scope, refreshToken: mayRefresh(client), extensionData: {}, oneTimeUse } }
    },
  }
}
