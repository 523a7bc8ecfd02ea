import type { Response } from 'supertest'
import type { AuthorizationServerOptions } from '../../../lib/index'
import { canonicalOptions } from './application'
import { consentFormOf } from './consent-form'
import type { Flow, RepeatedFields } from './flow'

/** A host whose owners may leave one scope out. */
export const withOptionalScope = {
  scopes: {
    ...canonicalOptions.scopes,
    'photos:print': { description: 'Print your photos', weight: 'write', optional: true },
  },
} satisfies Partial<AuthorizationServerOptions>

/** A question with one answer for each of these workspaces. */
export const workspaceQuestion = (...workspaces: readonly string[]) => ({
  name: 'workspace',
  text: 'Which workspace?',
  answers: workspaces.map((value) => ({ value, label: `Workspace ${value}` })),
})

/** Presses a button of a page after some ticks and answers, as a browser sends them. */
export async function decideWith(
  flow: Flow,
  page: Response,
  selected: RepeatedFields,
  decision = 'approve',
  owner = 'alice',
): Promise<Response> {
  const { action, fields } = consentFormOf(page, '/authorize')
  return flow.submit(action, { ...fields, ...selected, decision }, owner)
}

/** The names of the check boxes of a page, none of them with a tick. */
export function boxesOf({ text }: Response): readonly string[] {
  const boxes = [...text.matchAll(/<input type="checkbox" name="([^"]*)" value="yes" ?(\w*)/g)]
  return boxes.map(([, name = '', state = '']) => name + state)
}

/** The values among which the owner of a page chooses. */
export function answersOf({ text }: Response): readonly string[] {
  return [...text.matchAll(/(?:type="radio" name="choice"|<option) value="([^"]+)"/g)].map(
    ([, value = '']) => value,
  )
}
