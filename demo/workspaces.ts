import type { ChoicesQuestion, OwnerQuestion } from '../lib/index'

/** The workspaces whose photos Lumen keeps apart, by the identifier that tokens have. */
const workspaces = new Map([
  ['travels', 'Travels'],
  ['alpine-club', 'Alpine Club'],
])

// Who belongs to which workspaces, by subject.
const memberships = new Map([['user-1815', ['travels', 'alpine-club']]])

/** The question on the consent page: an app sees the photos of one workspace. A login asks for no photos. */
export function whichWorkspace({ subject, scope }: ChoicesQuestion): OwnerQuestion | undefined {
  if (!scope.some((token) => token.startsWith('photos:'))) return undefined
  return {
    name: 'workspace',
    text: 'The photos of which workspace?',
    answers: (memberships.get(subject) ?? []).map((id) => ({ value: id, label: workspaceName(id) })),
    none: 'You belong to no workspace, so there are no photos to see.',
  }
}

export function workspaceName(id: string): string {
  return workspaces.get(id) ?? id
}
