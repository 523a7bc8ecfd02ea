export interface PrivateState<Holder extends object, Value> {
  get(holder: Holder): Value | undefined
  set(holder: Holder, value: Value): void
}

let kinds = 0

/**
 * A value of an object of other code, which cannot read, write or print it. All kinds share one private field, so there
 * are only two hidden classes. No `WeakMap`: it lives long, and V8's quick collections keep whatever an old table
 * refers to, so each request would move to the old generation.
 */
export function privateState<Holder extends object, Value>(): PrivateState<Holder, Value> {
  const kind = kinds++
  return {
    get(holder) {
      const values = PrivateField.of(holder)
      return values && Reflect.get(values, kind)
    },
    set(holder, value) {
      Reflect.set(PrivateField.of(holder) ?? PrivateField.addTo(holder), kind, value)
    },
  }
}

// A subclass can add a private field to the returned object.
// oxlint-disable-next-line typescript/no-extraneous-class
class ReturnsHolder {
  constructor(holder: object) {
    return holder
  }
}

class PrivateField extends ReturnsHolder {
  // Room for a few kinds: an empty list would grow to room for 17.
  readonly #values: object = [undefined, undefined, undefined, undefined]

  static of(holder: object): object | undefined {
    return #values in holder ? holder.#values : undefined
  }

  static addTo(holder: object): object {
    return new PrivateField(holder).#values
  }
}
