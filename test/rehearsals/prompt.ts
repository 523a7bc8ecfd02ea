import { invalidRequest, OAuthError, type PlugIn } from 'express-authorization-server'

const isNot = (code: string, description: string) => new OAuthError(code, `prompt_none_${code}`, description)

/** The parameter `prompt` of OpenID Connect: a client demands a login or a page, or that there is neither. */
export const prompt: PlugIn = {
  name: 'prompt',
  open: () => ({
    extensions: [
      {
        name: 'prompt',
        authorizationParameters: ['prompt'],
        async atResourceOwner(owner, { parameters, loginDemandedAt, mayApprove, hasApproved }) {
          const prompts = new Set((parameters.get('prompt') ?? '').split(' '))
          if (prompts.has('none')) {
            if (prompts.size > 1) throw invalidRequest('prompt_malformed', 'The prompt none stands alone.')
            if (owner === undefined) throw isNot('login_required', 'No owner is logged in.')
            if (!mayApprove) throw isNot('interaction_required', 'The owner must see a page.')
            if (!(await hasApproved())) throw isNot('consent_required', 'The owner has not approved before.')
            return 'approve'
          }
          const { authenticatedAt = 0 } = owner ?? {}
          if (prompts.has('login') && !(loginDemandedAt !== undefined && authenticatedAt >= loginDemandedAt))
            return 'log in'
          return prompts.has('consent') ? 'ask' : undefined
        },
      },
    ],
  }),
}
