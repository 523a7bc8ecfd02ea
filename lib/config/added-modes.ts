import { checked, kind, rows, shape } from '../primitives/schema'
import { isText } from '../primitives/values'
import type { ResponseMode } from '../protocol/response-types'
import { listed, type Sources } from './open-plug-ins'

const modeShape = shape<ResponseMode>(
  {
    name: kind(
      (value) => isText(value) && /^[a-z\d_.]+$/.test(value),
      'must be lower-case letters, digits, _ and .',
    ),
    carrier: kind((value) => value === 'form', "must be 'form'."),
  },
  'ignored',
)

export function resolveResponseModes(parts: Sources): readonly ResponseMode[] {
  const taken = new Set(['query', 'fragment'])
  const mode = checked(modeShape, ({ name }, wrong) => {
    if (taken.has(name)) wrong('.name', `is "${name}", which the server has already.`)
    taken.add(name)
  })
  return listed(parts, 'responseModes', rows(mode, 'response modes'))
}
