/** To a millionth: prices have no more digits, and a sum of binary fractions has. */
export const round = (value: number): number => Number(value.toFixed(6));
