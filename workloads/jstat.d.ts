/** jstat comes without types: what is used of it. */
declare module "jstat" {
  const jstat: {
    jStat: {
      studentt: {
        /** Quantile of `p` with `dof` degrees of freedom. */
        inv(p: number, dof: number): number;
      };
    };
  };
  export default jstat;
}
