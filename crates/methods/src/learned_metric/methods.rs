use super::{InMetric, MetricParams, restored};
use mercer_learning::{
    Axis, Condition, Cost, Learner, LearningError, Method, Parameters, Predictor, Range, Setting,
    Settings, Shape, Space, State, Tasks, Where, declared, find, with_conditions,
};

pub(crate) const METHODS: &[Method] = &[METRIC_SVM, HYPER_KRR_METRIC];

const METRIC_SVM: Method = Method {
    name: "metric-svm",
    title: "SVM in a learned metric",
    summary: "Gaussian support vector machine in a metric that the gradients of a kernel regression give",
    formula: "SVM with k(x, z) = exp(−s² ‖x − z‖²_A/2), A = c M^p, M the mean of ∇f ∇fᵀ of a kernel regression f, tr A = d",
    when: "as `gaussian-svm`, where some columns or directions matter more than others",
    cites: "this project, after Radhakrishnan, Beaglehole, Pandit & Belkin (2024)",
    revision: 1,
    tasks: Tasks::Both,
    cost: Cost {
        fit: "q^2 (q + 2 d) + e^2 (q + 9 e) + n d e + P r^2 (d + 1), q = min(n, metric_rows), e = min(d, 1000), \
              P = max(1, K (K - 1)/2), r = min(n, 2 n/K, cap)",
        predict: "d min(d, 1000) + n_sv (d + K^2/2)",
        memory: "min(min(n, cap), 8192)^2 + 2 q^2 + 2 n d + 5 min(d, 1000)^2, q = min(n, metric_rows)",
    },
    resource: Some("cap"),
    warnings: &[],
    settings: &|| SVM.settings(),
    defaults: &|shape| SVM.defaults(shape),
    user_defaults: &|shape| SVM.user_defaults(shape),
    space: &|shape| SVM.space(shape),
    build: &|settings| SVM.build(settings, "metric-svm"),
    restore: &|state| SVM.restore(state),
};

const HYPER_KRR_METRIC: Method = Method {
    name: "hyper-krr-metric",
    title: "hyper-KRR in a learned metric",
    summary: "`hyper-krr-linear` in a metric that the gradients of a kernel regression give",
    formula: "as `hyper-krr-linear`, of A^½ x: A = c M^p, M the mean of ∇f ∇fᵀ of a kernel regression f, tr A = d",
    when: "as `hyper-krr-linear`, where some columns or directions matter more than others",
    cites: "this project, after Liu et al. (2021) and Radhakrishnan et al. (2024)",
    revision: 1,
    tasks: Tasks::Classification,
    cost: Cost {
        fit: "q^2 (q + 2 d) + e^2 (q + 9 e) + n d e + m L M^4/12 + r^2 M + r M n_test, q = min(n, metric_rows), e = min(d, 1000), \
              L = 300, M = landmarks, r = min(m, machine_rows), m = min(n, points)",
        predict: "d min(d, 1000) + n_sv M^2",
        memory: "min(n, points) L + 2 q^2 + 2 n d + 5 min(d, 1000)^2, q = min(n, metric_rows), L = 300",
    },
    resource: Some("points"),
    // All methods of that list share them.
    warnings: mercer_models::hyper_rkhs::METHODS[0].warnings,
    settings: &|| HYPER.settings(),
    defaults: &|shape| HYPER.defaults(shape),
    user_defaults: &|shape| HYPER.user_defaults(shape),
    space: &|shape| HYPER.space(shape),
    build: &|settings| HYPER.build(settings, "hyper-krr-metric"),
    restore: &|state| HYPER.restore(state),
};

/// A method that is fitted in the metric.
struct Inner {
    list: &'static [Method],
    name: &'static str,
    /// Its settings that are not offered.
    hidden: &'static [&'static str],
    /// What they are.
    fixed: fn() -> Settings,
}

const SVM: Inner = Inner {
    list: mercer_baselines::BASELINES,
    name: "gaussian-svm",
    hidden: &["kernel", "degree", "offset", "solver", "draw"],
    fixed: || Settings::new().with("solver", "smo"),
};

const HYPER: Inner = Inner {
    list: mercer_models::hyper_rkhs::METHODS,
    name: "hyper-krr-linear",
    hidden: &[],
    fixed: || Settings::new().with("solver", "linear-time"),
};

const CONDITIONS: &[Condition] = &[(&["metric_rows"], &[Where::is_not("power", &["0"])])];

impl Inner {
    fn method(&self) -> Method {
        *find(self.list, self.name).expect("a method of the list")
    }

    fn own(name: &str) -> bool {
        MetricParams::ENTRIES.iter().any(|entry| entry.name == name)
    }

    fn settings(&self) -> Vec<Setting> {
        let inner = self.method();
        let own = with_conditions(declared::<MetricParams>(), CONDITIONS);
        let offered =
            |setting: &Setting| inner.offers(setting) && !self.hidden.contains(&setting.name);
        let theirs = (inner.settings)().into_iter().filter(offered);
        let renamed = |mut setting: Setting| {
            // What hangs on the inner method's name, or on what is fixed, is known here.
            let holds =
                |one: &Where| one.by == "method" && one.values.contains(&inner.name) == one.among;
            let fixed = |one: &Where| self.hidden.contains(&one.by);
            setting.heeded.retain(|any| !any.iter().any(|one| holds(one) || fixed(one)));
            setting
        };
        own.into_iter().chain(theirs.map(renamed)).collect()
    }

    fn known(&self) -> Vec<&'static str> {
        self.settings().iter().map(|setting| setting.name).collect()
    }

    fn offered(&self, settings: &Settings) -> Settings {
        let known = self.known();
        let kept = settings.iter().filter(|(name, _)| known.contains(name));
        kept.fold(Settings::new(), |all, (name, value)| all.with(name, value.clone()))
    }

    fn defaults(&self, shape: &Shape) -> Settings {
        let own = Settings::of(&MetricParams::default());
        own.overridden_by(&self.offered(&(self.method().defaults)(shape)))
    }

    fn user_defaults(&self, shape: &Shape) -> Settings {
        self.offered(&(self.method().user_defaults)(shape))
    }

    fn space(&self, shape: &Shape) -> Space {
        let mut space = (self.method().space)(shape);
        let powers = [0.0, 0.5, 1.0].map(Into::into).to_vec();
        space.axes.push(Axis { name: "power", range: Range::Choice(powers) });
        let power = MetricParams::default().power;
        let anchors = space.anchors.iter().map(|anchor| self.offered(anchor).with("power", power));
        space.anchors = anchors.collect();
        space
    }

    fn build(
        &self,
        settings: &Settings,
        method: &'static str,
    ) -> Result<Box<dyn Learner>, LearningError> {
        settings.require_known(&self.known(), method)?;
        let (mut own, mut theirs) = (Settings::new(), Settings::new());
        for (name, value) in settings.iter() {
            let part = if Self::own(name) { &mut own } else { &mut theirs };
            *part = std::mem::take(part).with(name, value.clone());
        }
        let params: MetricParams = own.read(method)?;
        let inner = (self.method().build)(&(self.fixed)().overridden_by(&theirs))?;
        Ok(Box::new(InMetric::new(params, inner)?))
    }

    fn restore(&self, state: &State) -> Result<Box<dyn Predictor>, LearningError> {
        restored(&self.method(), state)
    }
}
